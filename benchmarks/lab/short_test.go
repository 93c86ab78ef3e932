//go:build go1.25

package lab_test

import "testing"

func short(t *testing.T) {}
