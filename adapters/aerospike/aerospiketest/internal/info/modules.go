package info

// addModules adds the commands for modules of functions, of which there are none
// and can be none.
func (s *Server) addModules() {
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
