// Package security knows users, roles and sessions, answers admin commands, and says
// what a user may do.
package security
