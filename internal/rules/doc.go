// Package rules holds the rules of the house that no linter knows, as tests over every module of the repository.
//
// It has no code to import. Each rule is a function from a tree of sources to the places that break it; one test
// runs it over the repository, another over small sources in memory that break it on purpose, so that a rule which
// can no longer fail is itself a failure. Messages have the form "path:line: what is wrong (rule)".
package rules
