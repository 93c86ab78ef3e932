// Package debugz shows the toolkit's components live: how much of each guard is in use, who
// waits, who holds what and since when, how fast calls come and go, what has happened last,
// and in a word, with its reason, what is the matter. What needs somebody is on top.
//
//	mux.Handle("/debug/spillway/", debugz.Handler(observe.Limiter(db), observe.Set(lanes)))
//
// Importing it changes nothing, and nothing is mounted unasked. [Handler] is for this
// machine alone; [New] takes a [Config] for whatever else. Below its path there is the page
// itself for browsers, which updates itself and needs no network; text, for a terminal;
// json; and metrics, the table of package observe in Prometheus' text format or in that of
// OpenMetrics, for those without OpenTelemetry. Without a name the Accept header decides.
//
// A page has no goroutine. It looks at the components when somebody asks, and keeps the
// looks of the last minute to compare with: the first look has no rates. How long permits
// are held when all is well it learns from the looks that found nothing the matter, as
// package watch does.
//
// # Guarantees
//
//   - G-DBZ-1: unless Config.Allow says otherwise, a request is answered only if it comes
//     from a loopback address, names this machine as its host, and has no trace of a proxy.
//     Others get 403 and learn nothing. A proxy on this machine that leaves no trace can't be
//     told from a caller: don't let one pass the page on.
//   - G-DBZ-2: nothing can be changed through it.
//   - G-DBZ-3: what is shown isn't kept, framed or read by other sites; the page loads
//     nothing and runs nothing but its own script.
//   - G-DBZ-4: a guard to which nothing comes back is on top with the call sites of its
//     holders, if those are tracked, with the first look that can tell; those who held before
//     it was full are told from those who only suffer.
//   - G-DBZ-5: a tight limit, a slow backend and mere contention are told apart.
//   - G-DBZ-6: rates are over two looks, and never over a gap or two components of one name.
//   - G-DBZ-7: parts of a component, as a lane at one node, are beneath their sum, and bring
//     it to the top.
//   - G-DBZ-8: each form can be had by its name and by its media type.
//   - G-DBZ-9: the metrics are those of the table under the names of OpenTelemetry's
//     exporter; the text is valid whatever the components say, and buckets are exact.
//   - G-DBZ-10: many viewers cost no more than one.
//   - G-DBZ-11: a component that panics is shown as broken, and harms nothing.
//   - G-DBZ-12: a component that doesn't answer holds up one request; the others get the last
//     look, and hear of it, and no metrics, which would be out of date.
//   - G-DBZ-13: what is shown and what is remembered is bounded.
//   - G-DBZ-14: what others have named is data: it can't run, and moves no terminal.
//   - G-DBZ-15: a log keeps the last of what its hooks were told, and no more.
//   - G-DBZ-16: no key, no user data, no text of an error is shown, unless Config.ErrorTexts
//     allows texts: call sites, classes, and what programs have named.
//
// # When not to use it
//
// For alerts and for what was an hour ago export the metrics. In the log package watch says
// when a verdict changes. To change something, call the component.
package debugz
