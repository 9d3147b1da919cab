"""The filter of sampled light, against one that goes through all pixels of each pixel's neighbourhood in double precision."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_nim.render.denoise import denoised, noise_of


def slowly(light, noise, weights, guides, slopes):
    """Five levels of the binomial kernel 1 2 1 by 1 2 1, whose weights fall with the differences of guides and of light."""
    light, noise = light.astype(float), noise.astype(float)
    height, width, _ = light.shape
    for step in (1, 2, 4, 8, 16):
        bright = light @ (0.2126, 0.7152, 0.0722)
        new_light, new_noise = light.copy(), noise.copy()
        for y in range(height):
            for x in range(width):
                total, mean, spread = 0.0, np.zeros(3), 0.0
                for v in (-1, 0, 1):
                    for u in (-1, 0, 1):
                        b, a = y + v * step, x + u * step
                        if not (0 <= b < height and 0 <= a < width):
                            continue
                        apart = (bright[y, x] - bright[b, a]) ** 2 / (5 * (noise[y, x] + noise[b, a]) + 1e-12)
                        apart += sum((guide[y, x] - guide[b, a]) ** 2 for guide in guides)
                        apart += sum(((slope[y, x] - slope[b, a]) / step) ** 2 for slope in slopes)
                        share = (2 - abs(u)) * (2 - abs(v)) / 16 * np.exp(-apart) * weights[b, a]
                        total, mean, spread = total + share, mean + share * light[b, a], spread + share**2 * noise[b, a]
                if weights[y, x]:
                    new_light[y, x], new_noise[y, x] = mean / total, spread / total**2
        light, noise = new_light, new_noise
    return light


def scene(seed, height, width):
    random = np.random.default_rng(seed)
    light = random.random((height, width, 3), dtype=np.float32)
    noise = random.random((height, width), dtype=np.float32) * np.float32(0.1) * random.integers(0, 2, (height, width), np.int8)
    weights = random.integers(0, 4, (height, width)).astype(np.float32)
    guides = random.random((2, height, width), dtype=np.float32)
    return light, noise, weights, guides, guides[:1] * np.float32(8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), height=st.integers(1, 12), width=st.integers(1, 12))
@example(seed=0, height=20, width=3)
@example(seed=1, height=1, width=40)
def test_the_filter_is_the_slow_one(seed, height, width):
    light, *others = scene(seed, height, width)
    assert denoised(light, *others) == pytest.approx(slowly(light, *others), abs=2e-5)


def test_the_noise_is_the_variance_of_the_mean_of_samples():
    random = np.random.default_rng(6)
    samples = random.normal(3, 0.5, (8, 50, 60)).astype(np.float32)
    counts = np.full((50, 60), 8, np.float32)
    noise = noise_of(samples.sum(axis=0), (samples**2).sum(axis=0), counts)
    assert noise.mean() == pytest.approx(0.25 / 8, rel=0.02)
    assert noise.std() < 0.3 * noise.mean()  # over the neighbours
    # A single sample has no variance: that of its neighbours, or the square of its light.
    alone = np.zeros((5, 5), np.float32)
    alone[2, 2] = 1
    assert noise_of(3 * alone, 9 * alone, alone)[2, 2] == 9
    beside = np.roll(alone, 1, axis=1)  # samples 1 and 3: their variance is 2, and half of that of their mean
    noise = noise_of(2 * alone + 4 * beside, 4 * alone + 10 * beside, alone + 2 * beside)
    assert (noise[2, 2], noise[2, 3]) == pytest.approx((2, 1))
