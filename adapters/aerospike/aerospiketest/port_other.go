//go:build !unix

package aerospiketest

// keepPort keeps no port here.
func keepPort(string) (release func()) { return nil }
