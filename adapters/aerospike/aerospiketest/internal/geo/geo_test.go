package geo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/geo"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"Point","coordinates":[1,2]}`:                                                            true,
		`{"type":"Point","coordinates":[-180,90.0],"more":{}}`:                                            true,
		`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}`:                              true,
		`{"type":"AeroCircle","coordinates":[[1,2],1e3]}`:                                                 true,
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`:                                    true,
		`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]}`: true,
		`{"type":"Point","coordinates":[200,2]}`:                                                          false,
		`{"type":"Point","coordinates":[1]}`:                                                              false,
		`{"type":"Point","coordinates":["1",2]}`:                                                          false,
		`{"type":"Point","coordinates":[null,2]}`:                                                         false,
		`{"type":"Point"}`:   false,
		`{"type":"Feature"}`: false,
		`{"type":"LineString","coordinates":[[0,0],[1,1]]}`:            false,
		`{"type":"AeroCircle","coordinates":[[1,2]]}`:                  false,
		`{"type":"AeroCircle","coordinates":[[1,2],null]}`:             false,
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}`:       false,
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}`: false,
		`{"type":"Polygon"}`: false,
		`{"type":"MultiPolygon","coordinates":[[[[0,0]]]]}`: false,
		`nonsense`: false,
		``:         false,
	} {
		_, ok := geo.Parse([]byte(text))
		require.Equal(t, want, ok, text)
	}
}

func TestMatch(t *testing.T) {
	shape := func(text string) *geo.Shape {
		s, ok := geo.Parse([]byte(text))
		require.True(t, ok, text)
		return s
	}
	const (
		point    = `{"type":"Point","coordinates":[10.5,20.5]}`
		opposite = `{"type":"Point","coordinates":[-169.5,-20.5]}`
		square   = `{"type":"Polygon","coordinates":[[[10,20],[11,20],[11,21],[10,21],[10,20]]]}`
		other    = `{"type":"Polygon","coordinates":[[[10,20],[10,21],[11,21],[11,20],[10,20]]]}`
		hole     = `{"type":"Polygon","coordinates":[[[10,20],[11,20],[11,21],[10,21],[10,20]],[[10.4,20.4],[10.6,20.4],[10.6,20.6],[10.4,20.6],[10.4,20.4]]]}`
		far      = `{"type":"Polygon","coordinates":[[[30,20],[31,20],[31,21],[30,20]]]}`
		both     = `{"type":"MultiPolygon","coordinates":[[[[30,20],[31,20],[31,21],[30,20]]],[[[10,20],[11,20],[11,21],[10,21],[10,20]]]]}`
		near     = `{"type":"AeroCircle","coordinates":[[10,20],100000]}`
		nearer   = `{"type":"AeroCircle","coordinates":[[10,20],70000]}`
		nothing  = `{"type":"AeroCircle","coordinates":[[10.5,20.5],0]}`
	)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{point, square, true},
		{square, point, true},
		{point, other, true},
		{point, hole, false},
		{point, far, false},
		{point, both, true},
		{point, near, true},
		{point, nearer, false},
		{point, nothing, false},
		{opposite, square, false},
		{opposite, other, false},
		{point, point, false},
		{square, square, false},
	} {
		require.Equal(t, c.want, geo.Match(shape(c.a), shape(c.b)), "%s in %s", c.a, c.b)
	}
	require.True(t, shape(square).IsRegion())
	require.False(t, shape(point).IsRegion())
}

func FuzzParse(f *testing.F) {
	f.Add(`{"type":"Polygon","coordinates":[[[10,20],[11,20],[11,21],[10,21],[10,20]]]}`)
	f.Add(`{"type":"AeroCircle","coordinates":[[10,20],100000]}`)
	f.Fuzz(func(_ *testing.T, text string) {
		if s, ok := geo.Parse([]byte(text)); ok {
			p, _ := geo.Parse([]byte(`{"type":"Point","coordinates":[1,2]}`))
			geo.Match(s, p)
			geo.Match(s, s)
		}
	})
}
