"""Prints the tables that pdfplumber finds in a PDF, for tableset_peer_test.go.

usage: tables_peer.py STRATEGY FILE

STRATEGY is lines or text. The output is JSON: a list of tables, each a list of rows of
cells; null is a cell that another one covers.
"""

import json
import sys

import pdfplumber

settings = {"vertical_strategy": sys.argv[1], "horizontal_strategy": sys.argv[1]}
with pdfplumber.open(sys.argv[2]) as document:
    json.dump([table for page in document.pages for table in page.extract_tables(settings)], sys.stdout)
