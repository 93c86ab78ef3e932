package monitoring

// object is a piece of Grafana's JSON.
type object = map[string]any

// The sizes of a panel, in the 24 columns of Grafana, and the version of its format.
const (
	panelWidth, panelHeight = 12, 8
	columns                 = 24
	schemaVersion           = 39
)

// layout places the panels, two to a line, each row of them under its title.
func layout(panels []Panel) object {
	var placed []object
	row, x, y, id := "", 0, 0, 0
	for _, p := range panels {
		if p.Row != row {
			if x > 0 {
				x, y = 0, y+panelHeight
			}
			row = p.Row
			id++
			placed = append(placed, object{
				"id": id, "type": "row", "title": row, "collapsed": false, "panels": []object{},
				"gridPos": object{"x": 0, "y": y, "w": columns, "h": 1},
			})
			y++
		}
		id++
		placed = append(placed, p.json(id, x, y))
		if x += panelWidth; x == columns {
			x, y = 0, y+panelHeight
		}
	}
	return object{
		"uid": "spillway", "title": "Spillway", "tags": []string{"spillway"}, "schemaVersion": schemaVersion,
		"editable": true, "refresh": "10s", "time": object{"from": "now-1h", "to": "now"},
		"templating": object{"list": []object{
			{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
			variable("job", "label_values("+series("spillway.limiter.permit.limit")+", job)"),
			variable("instance", "label_values("+series("spillway.limiter.permit.limit")+`{job=~"[[job]]"}, instance)`),
		}},
		"panels": placed,
	}
}

// variable is a choice of the dashboard, with all as the default.
func variable(name, query string) object {
	return object{
		"name": name, "label": name, "type": "query", "datasource": source(), "query": query,
		"refresh": 2, "includeAll": true, "multi": true, "allValue": ".*", "sort": 1,
		"current": object{"text": "All", "value": "$__all"},
	}
}

func source() object { return object{"type": "prometheus", "uid": "${datasource}"} }

func (p Panel) json(id, x, y int) object {
	targets := make([]object, len(p.Queries))
	for i, q := range p.Queries {
		targets[i] = object{
			"refId": string(rune('A' + i)), "datasource": source(), "expr": q.Query, "legendFormat": q.Legend, "range": true,
		}
	}
	return object{
		"id": id, "type": "timeseries", "title": p.Title, "description": p.Help, "datasource": source(),
		"gridPos":     object{"x": x, "y": y, "w": panelWidth, "h": panelHeight},
		"fieldConfig": object{"defaults": object{"unit": p.Unit, "min": 0}, "overrides": []object{}},
		"options":     object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"}},
		"targets":     targets,
	}
}
