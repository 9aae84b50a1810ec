"""The colours of all pictures and pages: Okabe and Ito's, which colour-blind readers tell apart.

The grey is light. To readers with deuteranopia, a darker one would look like the purple.
"""

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#C4C4C4"
#: Communities, or curves, in order.
COLOURS = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY]
