package geo

import (
	"encoding/json"
	"math"
)

// earthRadius is in metres.
const earthRadius = 6371000

// object is a GeoJSON object.
type object struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
	Geometry    *object         `json:"geometry"`
}

// Parse reads a point, polygon, multi-polygon, circle ("AeroCircle") or a
// feature with one of these.
func Parse(text []byte) (*Shape, bool) {
	var o object
	if json.Unmarshal(text, &o) != nil {
		return nil, false
	}
	if o.Type == "Feature" {
		if o.Geometry == nil {
			return nil, false
		}
		o = *o.Geometry
	}
	s := new(Shape)
	var ok bool
	switch o.Type {
	case "Point":
		s.center, ok = parsePoint(o.Coordinates)
	case "AeroCircle":
		ok = s.parseCircle(o.Coordinates)
	case "Polygon":
		s.region = true
		ok = s.parsePolygon(o.Coordinates)
	case "MultiPolygon":
		s.region = true
		var polygons []json.RawMessage
		ok = json.Unmarshal(o.Coordinates, &polygons) == nil
		for i := 0; ok && i < len(polygons); i++ {
			ok = s.parsePolygon(polygons[i])
		}
	}
	return s, ok
}

func parsePoint(b []byte) (point, bool) {
	var c []json.RawMessage
	var lng, lat *float64
	if json.Unmarshal(b, &c) != nil || len(c) != 2 || json.Unmarshal(c[0], &lng) != nil || json.Unmarshal(c[1], &lat) != nil || lng == nil || lat == nil {
		return point{}, false
	}
	if math.Abs(*lng) > 180 || math.Abs(*lat) > 90 {
		return point{}, false
	}
	phi, theta := *lat*math.Pi/180, *lng*math.Pi/180
	return point{math.Cos(phi) * math.Cos(theta), math.Cos(phi) * math.Sin(theta), math.Sin(phi)}, true
}

func (s *Shape) parseCircle(b []byte) bool {
	var c []json.RawMessage
	var radius *float64
	if json.Unmarshal(b, &c) != nil || len(c) != 2 || json.Unmarshal(c[1], &radius) != nil || radius == nil {
		return false
	}
	var ok bool
	s.region, s.angle = true, *radius/earthRadius
	s.center, ok = parsePoint(c[0])
	return ok
}

func (s *Shape) parsePolygon(b []byte) bool {
	var loops [][]json.RawMessage
	if b == nil || json.Unmarshal(b, &loops) != nil || loops == nil {
		return false
	}
	var p polygon
	for _, l := range loops {
		var pts loop
		for _, raw := range l {
			v, ok := parsePoint(raw)
			if !ok {
				return false
			}
			if len(pts) == 0 || pts[len(pts)-1] != v {
				pts = append(pts, v)
			}
		}
		if len(pts) < 4 || pts[0] != pts[len(pts)-1] {
			return false // too few or not closed
		}
		p = append(p, pts[1:])
	}
	s.polygons = append(s.polygons, p)
	return true
}
