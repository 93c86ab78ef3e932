// Package seeds reads from the command line which cluster a program connects to, and as whom.
package seeds
