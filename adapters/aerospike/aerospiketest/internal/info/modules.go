package info

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// addModules adds the commands for modules of functions.
func (s *Server) addModules() {
	s.table["udf-list"] = func(*request) string {
		var b strings.Builder
		for _, m := range s.Functions.List() {
			b.WriteString("filename=" + m.File + ",hash=" + m.Hash + ",type=LUA;")
		}
		return b.String()
	}
	s.table["udf-get"] = func(r *request) string {
		file := r.param("filename")
		if file == "" {
			return errFile
		}
		m, ok := s.Functions.Get(file)
		if !ok {
			return "error=not_found"
		}
		return "type=LUA;content=" + base64.StdEncoding.EncodeToString([]byte(m.Source)) + ";"
	}
	s.table["udf-remove"] = func(r *request) string {
		file := r.param("filename")
		if file == "" {
			return errFile
		}
		s.Functions.Remove(file)
		return "ok"
	}
	s.table["udf-put"] = func(r *request) string { return r.putModule() }
}

const errFile = "error=invalid_filename"

func (r *request) putModule() string {
	file := r.param("filename")
	if file == "" || strings.ContainsAny(file, "/,\t") {
		return errFile
	}
	text := r.param("content")
	length, err := strconv.Atoi(r.param("content-len"))
	source, err2 := base64.StdEncoding.DecodeString(text)
	if err != nil || err2 != nil || length != len(text) {
		return "error=invalid_content_len"
	}
	if t := r.param("udf-type"); t != "" && !strings.EqualFold(t, "LUA") {
		return "error=invalid_udf_type"
	}
	err = r.Functions.Put(file, string(source))
	if err == nil {
		return "ok"
	}
	line := 0
	message := err.Error()
	var syntax *udf.SyntaxError
	if errors.As(err, &syntax) {
		line, message = syntax.Line, syntax.Message
	}
	return "error=compile_error;file=" + file + ";line=" + strconv.Itoa(line) + ";message=" + base64.StdEncoding.EncodeToString([]byte(message))
}
