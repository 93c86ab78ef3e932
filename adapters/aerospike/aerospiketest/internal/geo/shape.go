package geo

import "math"

// A point lies on the unit sphere.
type point [3]float64

func (a point) dot(b point) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func (a point) cross(b point) point {
	return point{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// A loop is closed: an edge goes from its last point to its first.
type loop []point

// A polygon has what lies in an odd number of its loops.
type polygon []loop

// A Shape is a point or a region: a circle or any number of polygons.
type Shape struct {
	region   bool
	center   point   // of a circle, or the point
	angle    float64 // of a circle
	polygons []polygon
}

// IsRegion reports whether the shape is not a point.
func (s *Shape) IsRegion() bool { return s.region }

// Match reports whether one of the shapes is a point and the other a region that
// it lies in.
func Match(a, b *Shape) bool {
	if a.region == b.region {
		return false
	}
	if b.region {
		a, b = b, a
	}
	return a.contains(b.center)
}

func (s *Shape) contains(p point) bool {
	if s.polygons == nil {
		return s.angle > 0 && math.Atan2(math.Sqrt(square(s.center.cross(p))), s.center.dot(p)) <= s.angle
	}
	for _, g := range s.polygons {
		in := false
		for _, l := range g {
			if l.contains(p) {
				in = !in
			}
		}
		if in {
			return true
		}
	}
	return false
}

func square(p point) float64 { return p.dot(p) }

// contains adds up the angles under which p sees the edges. A loop round the
// point opposite of p would do as well, so the loop must be on p's side.
func (l loop) contains(p point) bool {
	var middle point
	turn := 0.0
	for i, a := range l {
		b := l[(i+1)%len(l)]
		for k := range middle {
			middle[k] += a[k]
		}
		// The angle between the planes through p and a and through p and b.
		na, nb := p.cross(a), p.cross(b)
		turn += math.Atan2(na.cross(nb).dot(p), na.dot(nb))
	}
	return math.Abs(turn) > math.Pi && p.dot(middle) > 0
}
