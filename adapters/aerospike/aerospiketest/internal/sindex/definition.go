package sindex

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Type is the type of the values that an index holds, as info commands name it.
type Type string

// Types of values.
const (
	Numeric Type = "numeric"
	String  Type = "string"
	Blob    Type = "blob"
	Geo     Type = "geo2dsphere"
)

// A Collection says which values of a bin an index holds, as info commands name
// it.
type Collection string

// Collections.
const (
	Default   Collection = "default" // the bin's value itself
	List      Collection = "list"    // the elements of a list
	MapKeys   Collection = "mapkeys"
	MapValues Collection = "mapvalues"
)

// collectionOf returns the collection of a number in a message.
func collectionOf(n byte) (Collection, bool) {
	switch n {
	case 0:
		return Default, true
	case 1:
		return List, true
	case 2:
		return MapKeys, true
	case 3:
		return MapValues, true
	}
	return "", false
}

// A Definition is what an index is made of.
type Definition struct {
	Set        string // empty is the whole namespace
	Bin        string
	Type       Type
	Collection Collection
	Context    string // msgpack; where in the bin's list or map to look
}

// typeOf returns the type of index that holds particles of a type.
func typeOf(particle byte) (Type, bool) {
	switch particle {
	case wire.ParticleInteger:
		return Numeric, true
	case wire.ParticleString:
		return String, true
	case wire.ParticleBlob:
		return Blob, true
	case wire.ParticleGeoJSON:
		return Geo, true
	}
	return "", false
}

// values returns what an index holds of a list or map, each value in msgpack:
// one, or the members of a collection. Their types may be any.
func (d *Definition) values(b []byte) [][]byte {
	if d.Context != "" {
		var ok bool
		if b, ok = follow(b, d.Context); !ok {
			return nil
		}
	}
	var l [][]byte
	switch d.Collection {
	case Default:
		return [][]byte{b}
	case List:
		l, _ = elements(b)
	case MapKeys:
		l, _, _ = pairs(b)
	case MapValues:
		_, l, _ = pairs(b)
	}
	return l
}

// Entries returns how many entries an index has of a record with these bins.
func (d *Definition) Entries(bins []store.Bin) int {
	i := store.Find(bins, []byte(d.Bin))
	if i < 0 {
		return 0
	}
	v := bins[i].Value
	if d.Context == "" && d.Collection == Default {
		if t, ok := typeOf(v.Type); ok && t == d.Type {
			return 1
		}
		return 0
	}
	if v.Type != wire.ParticleList && v.Type != wire.ParticleMap {
		return 0
	}
	n := 0
	for _, e := range d.values(v.Data) {
		if t, ok := typeOf(particleOf(e)); ok && t == d.Type {
			n++
		}
	}
	return n
}

// particleOf returns the particle type that a value in msgpack would have as a bin,
// if it is one that can be in an index.
func particleOf(b []byte) byte {
	switch msgpack.Peek(b) {
	case msgpack.NegInt, msgpack.Uint:
		return wire.ParticleInteger
	case msgpack.String:
		return wire.ParticleString
	case msgpack.Blob:
		return wire.ParticleBlob
	case msgpack.GeoJSON:
		return wire.ParticleGeoJSON
	default:
	}
	return wire.ParticleNull
}
