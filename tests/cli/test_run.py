#!/usr/bin/env python3
"""Tests the matching of run.py itself."""

import unittest

from run import first_difference, matches_line


class Lines(unittest.TestCase):
    def test_regular_expression_inside_a_line(self):
        self.assertTrue(matches_line("cores {{[0-9]+}} (usable)", "cores 12 (usable)"))
        self.assertFalse(matches_line("cores {{[0-9]+}}", "cores twelve"))

    def test_plain_text_is_no_pattern(self):
        self.assertFalse(matches_line("a.c", "abc"))


class Outputs(unittest.TestCase):
    def test_equal(self):
        self.assertIsNone(first_difference(["a", "b"], ["a", "b"]))

    def test_too_short_and_too_long(self):
        self.assertEqual(first_difference(["a", "b"], ["a"]), (1, 1))
        self.assertEqual(first_difference(["a"], ["a", "b"]), (1, 1))

    def test_dots_take_any_number_of_lines(self):
        for middle in [[], ["x"], ["x", "y"]]:
            self.assertIsNone(first_difference(["a", "...", "b"], ["a", *middle, "b"]))
        self.assertIsNone(first_difference(["a", "..."], ["a"]))
        self.assertIsNone(first_difference(["..."], []))

    def test_dots_do_not_excuse_a_missing_line(self):
        self.assertEqual(first_difference(["...", "b"], ["a", "c"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
