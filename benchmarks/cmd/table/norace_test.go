//go:build !race

package main

// exact says whether allocations are counted exactly: the race detector makes some.
const exact = true
