// Package cdt carries out operations on lists and maps.
//
// [Read] and [Modify] take a bin's value and an operation as it stands in a
// message: two bytes of operation code and a list of arguments, or a list that
// starts with the code, or one that starts with 0xff, a context and such a list.
// An expression's call has the last two forms.
//
// Lists and maps are msgpack. A map is always stored in the order of its keys,
// which is how a real server keeps those that came from a client; its flags say
// whether that order is promised. What arrives from outside goes through
// [Normalize]; flags that ask for an index within the value are dropped, as the
// index shows nowhere.
//
// Values that are given are never changed; results may share their memory.
package cdt
