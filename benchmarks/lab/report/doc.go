// Package report writes what the lab found: a scoreboard in Markdown and pictures in SVG, which
// need nothing else to be seen.
package report
