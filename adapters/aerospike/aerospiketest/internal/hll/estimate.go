package hll

import "math"

// count estimates the number of elements.
func (s sketch) count() uint64 {
	if n := s.cache(); n != 0 {
		return n
	}
	const most = 1 << rankBits
	var c [most + 1]float64
	for r := range s.registers() {
		c[s.rank(r)]++
	}
	n := float64(s.registers())
	z := 0.0 // no register can be full, so no tau is needed
	for k := most; k > 0; k-- {
		z = 0.5 * (z + c[k])
	}
	z += float64(n * sigma(c[0]/n))
	return uint64(math.Round(s.alpha() * n * n / z))
}

// alpha corrects the bias.
func (s sketch) alpha() float64 {
	switch s.index() {
	case 4:
		return 0.673
	case 5:
		return 0.697
	case 6:
		return 0.709
	}
	return 0.7213 / (1 + 1.079/float64(s.registers()))
}

// sigma is for the registers that are empty.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += float64(x * y) // without the conversion it might not be rounded
		y += y
		if z == before {
			return z
		}
	}
}

// intersection estimates the number of elements that all sketches have. There
// are two, or three, or any number with the same minhash bits.
func intersection(all []sketch) uint64 {
	if common(all).minhash() == 0 {
		return byInclusion(all)
	}
	j := similarity(all)
	if math.IsNaN(j) {
		return 0
	}
	return uint64(math.Round(float64(union(all).count()) * j))
}

// byInclusion is by inclusion and exclusion.
func byInclusion(all []sketch) uint64 {
	whole := union(all).count()
	sum := uint64(0)
	for _, s := range all {
		if sum += s.count(); sum < s.count() {
			sum = math.MaxUint64 // counts may come from a cache, which may say anything
			break
		}
	}
	if len(all) < 3 {
		if sum <= whole {
			return 0
		}
		return sum - whole
	}
	pairs := intersection(all[:2]) + intersection(all[1:3]) + intersection([]sketch{all[0], all[2]})
	return uint64(max(0, int64(whole)-(int64(sum)-int64(pairs))))
}

// similarity estimates the Jaccard index. It is no number if all are empty.
func similarity(all []sketch) float64 {
	if common(all).minhash() == 0 {
		return float64(byInclusion(all)) / float64(union(all).count())
	}
	some, none := false, false
	for _, s := range all {
		if s.hasData() {
			some = true
		} else {
			none = true
		}
	}
	switch {
	case none && some:
		return 0
	case none:
		return math.NaN()
	}
	same := common(all)
	same.merge(all[0])
	for _, s := range all[1:] {
		same.keep(s)
	}
	chance := 0.0
	if len(all) == 2 {
		chance = collisions(same, all[0].count(), all[1].count())
	}
	return max(0, (float64(same.used())-chance)/float64(union(all).used()))
}

// hasData looks, as the real server does, at the first registers only: at as many
// bytes as there are registers.
func (s sketch) hasData() bool {
	for _, b := range s[headSize : headSize+s.registers()] {
		if b != 0 {
			return true
		}
	}
	return false
}

// collisions estimates how many registers of two sketches with nothing in common
// are the same by chance.
func collisions(s sketch, n0, n1 uint64) float64 {
	const most = 1 << rankBits
	n, p := float64(s.registers()), 0.0
	for i := 1; i <= most; i++ {
		low, high := math.Ldexp(1, -i)/n, math.Ldexp(1, 1-i)/n
		if i == most {
			low = 0
		}
		x := math.Pow(1-low, float64(n0)) - math.Pow(1-high, float64(n0))
		y := math.Pow(1-low, float64(n1)) - math.Pow(1-high, float64(n1))
		p += float64(x * y)
	}
	return p * n / math.Ldexp(1, s.minhash())
}
