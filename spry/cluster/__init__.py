"""The bridge to Spark: sessions, slots, stages. The only package that touches PySpark's inside."""
