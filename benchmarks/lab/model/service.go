package model

import (
	"math"
	"math/rand/v2"
)

// Service draws the service times of calls, in units of their mean: all have the mean 1.
type Service func(*rand.Rand) float64

// Exponential is the usual: a mean with as much spread.
func Exponential() Service { return (*rand.Rand).ExpFloat64 }

// Deterministic has no spread.
func Deterministic() Service { return func(*rand.Rand) float64 { return 1 } }

// Pareto has a heavy tail for a shape between 1 and 2: rare calls that take hundreds of times the
// mean. What is longer than 1000 means is cut off, as every server has some bound.
func Pareto(shape float64) Service {
	least := (shape - 1) / shape // so that the mean is 1
	return func(r *rand.Rand) float64 {
		return min(least/math.Pow(1-r.Float64(), 1/shape), 1000)
	}
}

// Bimodal has a share of heavy calls that take so many times what the light ones do; both are
// exponential.
func Bimodal(heavy, times float64) Service {
	light := 1 / (1 - heavy + heavy*times) // so that the mean is 1
	return func(r *rand.Rand) float64 {
		d := light * r.ExpFloat64()
		if r.Float64() < heavy {
			d *= times
		}
		return d
	}
}
