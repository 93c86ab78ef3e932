// Package permittest holds the model that the core of package permit, and the lanes over
// it, are compared with: lists and sums, one thing at a time, in a time of its own that
// goes from event to event. It knows nothing of words, locks, timers and slots.
package permittest
