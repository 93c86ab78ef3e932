package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/nethttp"
)

const namespace, setName = "test", "users"

// users is what users see: every request has its lane, and a second at most.
func (s *service) users() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", s.get)
	mux.HandleFunc("PUT /users/{id}", s.put)
	mux.HandleFunc("GET /report", s.report)
	cfg := nethttp.DefaultGuardConfig("users", s.lanes)
	cfg.Timeout = time.Second
	cfg.Class = func(r *http.Request) spillway.Class {
		if r.URL.Path == "/report" {
			return spillway.Bulk
		}
		return ""
	}
	guard, err := nethttp.NewGuard(cfg)
	if err != nil {
		panic(err) // a mistake in the lines above
	}
	return guard.Wrap(mux)
}

func (s *service) get(w http.ResponseWriter, r *http.Request) {
	key, bad := as.NewKey(namespace, setName, r.PathValue("id"))
	if bad != nil {
		http.Error(w, "no such user", http.StatusBadRequest)
		return
	}
	record, err := s.db.Get(r.Context(), nil, key)
	if err != nil {
		nethttp.WriteStatus(w, r, aerospike.StatusOf(err)) // 404, 503 with Retry-After, 504 …
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(record.Bins)
}

func (s *service) put(w http.ResponseWriter, r *http.Request) {
	var user struct{ Name string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&user); err != nil {
		http.Error(w, "not a user: want {\"name\": …}", http.StatusBadRequest)
		return
	}
	key, bad := as.NewKey(namespace, setName, r.PathValue("id"))
	if bad != nil {
		http.Error(w, "no such user", http.StatusBadRequest)
		return
	}
	if err := s.db.Put(r.Context(), nil, key, as.BinMap{"name": user.Name}); err != nil {
		nethttp.WriteStatus(w, r, aerospike.StatusOf(err))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// report counts the users: long work, in a lane of its own here and in the database.
func (s *service) report(w http.ResponseWriter, r *http.Request) {
	stream, err := s.db.ScanAll(r.Context(), nil, namespace, setName)
	if err != nil {
		nethttp.WriteStatus(w, r, aerospike.StatusOf(err))
		return
	}
	n := 0
	for _, err := range stream.All() {
		if err != nil {
			nethttp.WriteStatus(w, r, aerospike.StatusOf(err))
			return
		}
		n++
	}
	_, _ = fmt.Fprintln(w, n, "users")
}

// reloads applies the settings of the file at every signal, until ctx ends.
func (s *service) reloads(ctx context.Context, hup <-chan os.Signal, file string) {
	for {
		select {
		case <-hup:
			if err := s.reload(file); err != nil {
				s.log.Error("the settings stay as they are", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// reload applies the settings of the file, all of them or none. No file changes nothing.
func (s *service) reload(file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	settings, err := aerospike.ParseSettings(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return s.db.Apply(settings)
}
