package debugz_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/observe"
)

// request is one from this machine.
func request(path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://localhost:8080"+path, nil)
	r.RemoteAddr = "127.0.0.1:4711"
	return r
}

func answer(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// get asks for a path below the page's, and wants it.
func get(t testing.TB, h http.Handler, name string) string {
	t.Helper()
	w := answer(h, request("/debug/spillway/"+name))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	return w.Body.String()
}

// seen is what the JSON form says, as far as tests look at it.
type seen struct {
	Window   *float64 `json:"window_seconds"`
	Stale    string
	Faults   []string
	Need     int `json:"need_somebody"`
	Worst    string
	Entries  []entry `json:"components"`
	Refusals []struct {
		Component, Name, What, Class string
		Count                        int
	}
	Events []struct{ Component, Name, What, Error string }
}

type entry struct {
	Kind, Name, Lane, Node, Level, Verdict, Reason string
	Figures, Facts                                 map[string]any
	Parts                                          []entry
	Guard                                          *struct {
		InUse    int      `json:"in_use"`
		Admitted *float64 `json:"admitted_per_second"`
		Refused  *float64 `json:"refused_per_second"`
		Full     float64  `json:"saturated_for_seconds"`
		Usual    *float64 `json:"usual_hold_seconds"`
		Hold     struct {
			Median *float64 `json:"p50_seconds"`
			Recent bool
		}
		Refusals []struct {
			Name  string
			Total int
		}
		Holders []struct {
			Site   struct{ Function, Source string }
			Age    float64 `json:"age_seconds"`
			Class  string
			Before bool `json:"before_saturation"`
		}
		More  int `json:"more_holders"`
		Sites []struct {
			Holders int
			Before  int `json:"before_saturation"`
		} `json:"holders_by_site"`
	}
}

func look(t testing.TB, h http.Handler) (s seen) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(get(t, h, "json")), &s))
	return s
}

// of finds a component.
func (s seen) of(t testing.TB, kind, name string) entry {
	t.Helper()
	for _, e := range s.Entries {
		if e.Kind == kind && (e.Name == name || e.Name+"/"+e.Lane == name) {
			return e
		}
	}
	require.FailNow(t, "it isn't there", "%s %s in %+v", kind, name, s.Entries)
	return entry{}
}

func newPage(t testing.TB, change func(*debugz.Config), components ...observe.Observable) *debugz.Page {
	t.Helper()
	cfg := debugz.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	p, err := debugz.New(cfg, components...)
	require.NoError(t, err)
	return p
}
