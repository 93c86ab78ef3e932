// Package jobs keeps account of the scans and queries of a node: those that run,
// which can be aborted, and the last of those that are done.
package jobs
