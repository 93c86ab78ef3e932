// Package sindex keeps the definitions of secondary indexes and finds records by
// them.
//
// Nothing is indexed: a query looks at the bins of every record of a partition as
// an index would have seen them. So an index is complete as soon as it is defined,
// and never behind the records.
package sindex
