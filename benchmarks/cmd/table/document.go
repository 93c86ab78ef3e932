package main

import (
	"fmt"
	"os"
	"strings"
)

// What stands between these lines of a document is the last run's.
const (
	beginMark = "<!-- table: what follows is written by make bench -->"
	endMark   = "<!-- table: end -->"
)

// surroundings returns what stands before and after the result in a document. One without both
// markers, in this order, is an error.
func surroundings(name string) (before, after string, err error) {
	old, err := os.ReadFile(name)
	if err != nil {
		return "", "", err
	}
	before, rest, begun := strings.Cut(string(old), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", "", fmt.Errorf("%s has no markers to write between", name)
	}
	return before, after, nil
}

// writeBetween puts text between the markers of a document, in place of what is there. A
// document without them stays as it is.
func writeBetween(name, text string) error {
	before, after, err := surroundings(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(before+beginMark+"\n\n"+text+"\n"+endMark+after), 0o644)
}
