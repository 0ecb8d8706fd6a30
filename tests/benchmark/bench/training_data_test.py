# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest

import characters
import idx
import made_up_data
from bench import job, models
from tests import junit_main


class Idx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "some-idx3-ubyte.gz")

    def write(self, *arguments, **more):
        made_up_data.write_idx(self.path, *arguments, **more)

    def test_dimensions_and_elements(self):
        self.write((2, 3, 1), bytes(range(6)))
        self.assertEqual(((2, 3, 1), b"\0\1\2\3\4\5"), idx.read(self.path))

    def test_one_dimension(self):
        self.write((300,), bytes(300))
        self.assertEqual(((300,), bytes(300)), idx.read(self.path))

    def test_what_is_none_is_named(self):
        for arguments, words in (
                (((2, 3), bytes(5)), "has 5 elements, not the 6"),
                (((2, 3), bytes(7)), "has 7 elements, not the 6")):
            self.write(*arguments)
            with self.assertRaisesRegex(ValueError, words) as raised:
                idx.read(self.path)
            self.assertIn(self.path, str(raised.exception))
        self.write((1,), bytes(4), kind=13)
        with self.assertRaisesRegex(ValueError, "type 13"):
            idx.read(self.path)

    def test_what_is_cut_short_is_named(self):
        for content, words in ((b"", "no idx file"), (b"\0\1\x08\1", "no idx"),
                               (b"\0\0\x08\2\0\0\0\1", "its dimensions")):
            with made_up_data.gzip.open(self.path, "wb") as file:
                file.write(content)
            with self.assertRaisesRegex(ValueError, words):
                idx.read(self.path)

    def test_what_is_not_compressed(self):
        with open(self.path, "wb") as file:
            file.write(b"\0\0\x08\1")
        with self.assertRaises(OSError):
            idx.read(self.path)


class Characters(unittest.TestCase):
    def test_numbers_are_places_in_the_alphabet(self):
        text = characters.split("abcab dab\n", held_out=0.2)
        self.assertEqual("\n abcd", text.alphabet)
        self.assertEqual("abcab da", self.words(text, text.training))
        self.assertEqual("b\n", self.words(text, text.held_out))

    def words(self, text, numbers):
        return "".join(text.alphabet[number] for number in numbers)

    def test_any_characters(self):
        text = characters.split("äöü€" * 10, held_out=0)
        self.assertEqual("äöü€" * 10, self.words(text, text.training))

    def test_too_many_characters(self):
        with self.assertRaisesRegex(ValueError, "300 different"):
            characters.split("".join(map(chr, range(300))))


class Bible(unittest.TestCase):
    def test_verses_lose_their_references(self):
        self.assertEqual(
            "In the beginning\nThe elder unto Gaius\n",
            models.without_references(
                "Ge1:1 In the beginning\n3Jn1:1 The elder unto Gaius\n"))


class Lost(unittest.TestCase):
    def share(self, *texts):
        """The share for ranks with these counts; None: no file."""
        with tempfile.TemporaryDirectory() as folder:
            for rank, text in enumerate(texts):
                if text is not None:
                    path = os.path.join(folder, f"rank{rank}.prom")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
            return job.lost_share(folder, len(texts))

    def counts(self, expected, missing):
        return (f'# HELP gloo_ubt_pairs_missing_total Of those, how many\n'
                f'gloo_ubt_pairs_expected_total{{rank="0"}} {expected}\n'
                f'gloo_ubt_pairs_missing_total{{rank="0"}} {missing}\n')

    def test_the_mean_over_ranks(self):
        self.assertEqual(0.25, self.share(self.counts(100, 0),
                                          self.counts(10, 5)))
        self.assertEqual(0, self.share(self.counts(100, 0)))

    def test_where_nothing_was_bounded_there_is_none(self):
        self.assertIsNone(self.share(None, None))
        self.assertIsNone(self.share(self.counts(0, 0)))


if __name__ == "__main__":
    junit_main.main()
