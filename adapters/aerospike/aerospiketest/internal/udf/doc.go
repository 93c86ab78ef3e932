// Package udf knows modules of functions, and records and values as functions see
// them. What a module's language is, is none of its business: a [Registry] is told
// how to compile. Functions of Go are the simple form, and come first.
//
// Values are nil, bool, int64, float64, string, [GeoJSON], *[Bytes], *[List] and
// *[Map].
package udf
