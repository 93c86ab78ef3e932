// Package nethttp stands between net/http and the primitives.
package nethttp
