"""[NF]: Khovanova and Xiong, "Nim Fractals", J. Integer Seq. 17 (2014), Article 14.7.8; a module a group of sections."""
