package info

import "strconv"

// addJobs adds what shows and ends the scans and queries of a node.
func (s *Server) addJobs() {
	const errNoJob = "ERROR:2:job not found"
	s.table["query-show"] = func(r *request) string {
		switch id, given, ok := r.job(); {
		case !given:
			return r.Jobs(r.node).ShowAll()
		case !ok:
			return errParameter
		default:
			line, found := r.Jobs(r.node).Show(id)
			if !found {
				return errNoJob
			}
			return line
		}
	}
	s.table["query-abort"] = func(r *request) string {
		switch id, given, ok := r.job(); {
		case !given || !ok:
			return errParameter
		case !r.Jobs(r.node).Abort(id):
			return errNoJob
		}
		return "ok"
	}
	s.table["query-abort-all"] = func(r *request) string {
		return "number-of-queries-killed:" + strconv.Itoa(r.Jobs(r.node).AbortAll())
	}
}

// job reads the number of a job: whether there is one, and whether it can be.
func (r *request) job() (id uint64, given, ok bool) {
	text := r.param("id")
	if text == "" {
		text = r.param("trid")
	}
	id, err := strconv.ParseUint(text, 0, 64)
	return id, text != "", err == nil && id != 0
}
