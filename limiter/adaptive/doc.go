// Package adaptive moves a limit by what it observes.
package adaptive
