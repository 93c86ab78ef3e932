// Package hammer is what tests strike with.
package hammer
