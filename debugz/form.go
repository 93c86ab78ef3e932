package debugz

import (
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// form is one way to write down what is shown.
type form uint8

const (
	formText form = iota
	formHTML
	formJSON
	formMetrics // Prometheus' text format 0.0.4
	formOpenMetrics

	forms
)

// contentType is what the form is in HTTP.
func (f form) contentType() string {
	switch f {
	case formHTML:
		return "text/html; charset=utf-8"
	case formJSON:
		return "application/json; charset=utf-8"
	case formMetrics:
		return "text/plain; version=0.0.4; charset=utf-8"
	case formOpenMetrics:
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	default:
		return "text/plain; charset=utf-8"
	}
}

// formOf is what a request asks for: by the last element of its path, or, where that
// leaves it open, by its Accept header. There is none for a path that isn't known.
func formOf(r *http.Request) (form, bool) {
	_, name := path.Split(r.URL.Path)
	accept := strings.Join(r.Header.Values("Accept"), ",")
	switch name {
	case "":
		return prefer(accept, formText, formHTML, formJSON, formMetrics, formOpenMetrics), true
	case "html":
		return formHTML, true
	case "text":
		return formText, true
	case "json":
		return formJSON, true
	case "metrics":
		return prefer(accept, formMetrics, formOpenMetrics), true
	case "openmetrics":
		return formOpenMetrics, true
	}
	return 0, false
}

// prefer returns the form that an Accept header likes best; of those that it likes the
// same, the first. If it likes none, the first is better than nothing.
func prefer(accept string, offers ...form) form {
	best, most := offers[0], 0.0
	for _, o := range offers {
		if q := quality(accept, o.contentType()); q > most {
			best, most = o, q
		}
	}
	return best
}

// quality is how much an Accept header likes a content type, from 0 to 1, by the most
// specific of its ranges that takes it in (RFC 9110, section 12.5.1).
func quality(accept, contentType string) float64 {
	offer, has, _ := mime.ParseMediaType(contentType)
	kind, _, _ := strings.Cut(offer, "/")
	best, q := 0, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		media, wants, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		specific := 0
		switch media {
		case offer:
			specific = 3
		case kind + "/*":
			specific = 2
		case "*/*":
			specific = 1
		}
		version, asked := wants["version"]
		switch {
		case asked && version != has["version"]:
			specific = 0
		case asked && specific == 3:
			specific = 4
		}
		if specific > best {
			best, q = specific, weight(wants)
		}
	}
	return q
}

// weight is the q of a range; 1 if it has none, or one that is none.
func weight(params map[string]string) float64 {
	q, err := strconv.ParseFloat(params["q"], 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 1
	}
	return q
}
