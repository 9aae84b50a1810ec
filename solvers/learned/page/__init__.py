"""Make result pages: single HTML files with data, code and libraries that make no requests.

document.py assembles a page; static/ holds our own modules, libraries/ third-party ones. A page
only shows its data; nothing here solves a problem.
"""
