"""Result pages: one HTML file each, with its data, its code and its libraries, and no requests.

document.py puts a page together; static/ holds our own modules, libraries/ those of others. A page
shows what it is given: nothing here solves a problem.
"""
