package info

// addJobs adds indexes, which can be defined, and background queries and modules,
// which can't: there is nothing to show, and making one is refused.
func (s *Server) addJobs() {
	s.table["query-show"] = func(r *request) string {
		if r.param("trid") != "" {
			return "ERROR:2:job not found"
		}
		return ""
	}
	s.table["query-abort"] = func(r *request) string {
		if r.param("trid") != "" {
			return "ERROR:2:job not found"
		}
		return errParameter
	}
	s.text("query-abort-all", "OK - number of queries killed: 0")
	s.addIndexes()
	s.text("udf-list", "")
	s.table["udf-get"] = func(r *request) string { return r.withFile("error=not_found") }
	s.table["udf-remove"] = func(r *request) string { return r.withFile("ok") }
	s.table["udf-put"] = func(r *request) string {
		if r.param("content-len") == "" || r.param("content") == "!!!" {
			return r.withFile("error=invalid_content_len")
		}
		return r.withFile("error=unsupported;file=" + r.param("filename") + ";line=0;message=")
	}
}

func (r *request) withFile(answer string) string {
	if r.param("filename") == "" {
		return "error=invalid_filename"
	}
	return answer
}
