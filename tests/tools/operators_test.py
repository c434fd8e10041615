#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How scripts/sweeps/operators.py compares results, and when a reason is NNAPI's own."""

import pathlib
import sys
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/sweeps"))

import operator_outcomes as outcomes  # noqa: E402
import operator_samples  # noqa: E402
import operator_worker as worker  # noqa: E402


def single(value: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor([value], dtype=dtype)


class Comparison(unittest.TestCase):
    def problem(self, expected: torch.Tensor, exact: torch.Tensor, found: torch.Tensor, inputs=()) -> str:
        return worker.problem_of({"inputs": inputs, "expected": [expected], "exact": [exact]}, [found])

    def test_what_is_nearer_to_the_exact_number_than_pytorch_agrees(self):
        self.assertEqual("", self.problem(single(2e-5), single(0, torch.float64), single(0)))

    def test_what_is_farther_away_on_the_other_side_does_not(self):
        self.assertIn("off by", self.problem(single(2e-5), single(0, torch.float64), single(-3e-5)))

    def test_without_exact_numbers_pytorch_is_right(self):
        self.assertIn("off by", worker.problem_of({"inputs": [], "expected": [single(2e-5)], "exact": []}, [single(0)]))

    def test_no_number_is_never_nearer(self):
        exact = single(0, torch.float64)
        self.assertNotEqual("", self.problem(single(2e-5), exact, single(float("nan"))))
        self.assertNotEqual("", self.problem(single(float("inf")), single(float("inf"), torch.float64), single(0)))

    def test_the_largest_number_stands_for_an_infinite_one_of_its_sign(self):
        infinite, largest = single(float("inf")), single(torch.finfo(torch.float32).max)
        self.assertEqual("", self.problem(infinite, infinite.double(), largest))
        self.assertNotEqual("", self.problem(infinite, infinite.double(), -largest))

    def test_numbers_made_of_nan_are_not_judged(self):
        one, other, nan = single(1), single(2), single(float("nan"))
        self.assertIn(outcomes.OF_NAN, self.problem(one, one.double(), other, [one, nan]))
        self.assertNotIn(outcomes.OF_NAN, self.problem(one, one.double(), other, [one]))

    def test_integers_have_to_be_equal(self):
        expected, found = torch.tensor([3]), torch.tensor([4])
        self.assertIn("differ", self.problem(expected, torch.tensor([4]), found))

    def test_the_exact_result_of_a_norm_of_one_element(self):
        sample = operator_samples.sample_of(torch.nn.functional.layer_norm, (single(-7.3), (1,)), {})
        exact, = worker.exact_results(sample, [single(2e-5)])
        self.assertLess(abs(exact.item()), 1e-12)


class Reasons(unittest.TestCase):
    def test_the_first_reason_is_told(self):
        self.assertEqual("complex numbers", outcomes.inexpressible(["aten::complex: complex numbers found"]))

    def test_a_missing_rule_is_no_reason(self):
        self.assertEqual("", outcomes.inexpressible(["aten::frexp: no rule for aten::frexp.Tensor found"]))


if __name__ == "__main__":
    unittest.main()
