package lowriskovercommitment

import (
	"math"

	"github.com/berth-project/berth/plugins/helper"
)

// betaAtMost is the probability that a number with the beta distribution of the parameters,
// which are greater than 0, is no more than x: the regularised incomplete beta function.
//
// It is x^a (1-x)^b / (a B(a,b)) divided by a continued fraction, which converges fast for x
// below the mean; beyond it, the rest of the other side is taken. (NIST Digital Library of
// Mathematical Functions, 8.17.4 and 8.17.22.)
func betaAtMost(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaAtMost(b, a, 1-x)
	}
	whole, _ := math.Lgamma(a + b)
	ofA, _ := math.Lgamma(a)
	ofB, _ := math.Lgamma(b)
	front := math.Exp(whole - ofA - ofB + a*math.Log(x) + b*math.Log1p(-x))
	return helper.Part(front / a / fraction(a, b, x))
}

// How near two steps of a continued fraction are where it ends, how many there are at most,
// and what stands for 0 where it would be divided by.
const (
	near     = 1e-15
	mostStep = 10000
	tiny     = 1e-300
)

// fraction is the continued fraction 1 + d1/(1 + d2/(1 + ...)), by Lentz's method.
func fraction(a, b, x float64) float64 {
	f, c, d := 1.0, 1.0, 0.0
	for step := 1; step <= mostStep; step++ {
		m := float64(step / 2)
		term := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		if step%2 == 1 {
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / notZero(1+term*d)
		c = notZero(1 + term/c)
		f *= c * d
		if math.Abs(c*d-1) < near {
			break
		}
	}
	return f
}

func notZero(x float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
