// Package observe turns components into what observers read: one snapshot form for all of
// them, and one table of metrics.
//
// The telemetry in package otelx, the metrics text and the page of package debugz, the
// dashboards and the alerts go by this table and nothing else, so that a name means the
// same in all of them. Nothing here touches the path of a call: a snapshot is read from
// the counters that a component keeps anyway.
//
//	for s := range observe.All(observe.Limiter(db), observe.Set(lanes)) {
//		for p := range s.Points() {
//			fmt.Println(p.Metric.Name, p.Attributes, p.Value)
//		}
//	}
//
// # Guarantees
//
//   - G-OBS-1: a snapshot has no point whose metric isn't in the table, and none has an
//     attribute that its metric doesn't name.
//   - G-OBS-2: no two points of one snapshot have the same metric and attributes, so that
//     components with different names never mix.
//   - G-OBS-3: a counter never goes back while its component lives.
//   - G-OBS-4: values of attributes come from closed sets and from the names of
//     components, never from calls.
//   - G-OBS-5: what is admitted, refused, canceled and wrong is each counted once:
//     together they are the calls that came.
//
// # When not to use it
//
// To read one component, call its Stats. To export with OpenTelemetry use package otelx.
package observe
