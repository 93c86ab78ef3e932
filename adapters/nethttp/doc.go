// Package nethttp puts the primitives before HTTP handlers and around HTTP clients: who
// comes in needs a permit, who is refused is told when to come back, and what is called
// outside is limited, bounded in time and repeated only when that helps.
//
// A [Guard] stands before handlers, with a limiter, a lane, a set of lanes, or anything
// else that has an Admit. [WriteError] answers for a handler whose backend refused. A
// [Transport] is an http.RoundTripper for one dependency. [Liveness] and [Readiness] are
// for probes. [Serve] runs a server until a signal, and ends it in the order of
// lifecycle.Shutdown. Each can be used without the others.
//
// # Guarantees
//
// Of a guard:
//
//   - G-HTTP-1: a handler runs only with its permit, so no more are served at a time than
//     the admission lets in.
//   - G-HTTP-2: no request waits longer than MaxWait for its permit, whatever the admission
//     and its own context allow, if the admission listens to its context.
//   - G-HTTP-3: a refusal is a 429 or a 503 with a Retry-After of one second at least; 504 if
//     the request's time is up, 499 without a body if its caller has gone; never a success,
//     and never a word on why.
//   - G-HTTP-4: a permit comes back whatever the handler, or a transport's base, does:
//     return, panic, http.ErrAbortHandler, Goexit; those go on.
//   - G-HTTP-5: a request that is exempt needs no permit, and a process doesn't become
//     unready because it refuses.
//   - G-HTTP-6: the admission is told how each request ended, by its status, its caller and
//     its time.
//   - G-HTTP-7: the handler finds the Flusher and the Hijacker that the server's writer has,
//     and everything else by http.ResponseController; files and streams go as without us.
//   - G-HTTP-8: a hijacked connection gives its permit back when the handler returns, or with
//     HoldHijacked when it is closed or its handler panics; once.
//   - G-HTTP-9: an admitted request costs one allocation, two with Outcome; a class costs
//     three more, a Timeout five, one of which they share; an exempt one costs none.
//
// Of a transport:
//
//   - G-HTTP-10: each attempt has its permit, and nothing is held in a back-off: no permit,
//     no answer.
//   - G-HTTP-11: the request isn't changed, and its body is always closed.
//   - G-HTTP-12: what is repeated is the table of [Classify], and of requests that are not
//     idempotent only what was never sent, unless Retry says otherwise.
//   - G-HTTP-13: a body is sent again in full, or not at all.
//   - G-HTTP-14: no attempt is made before what Retry-After asks for.
//   - G-HTTP-15: a request ends within Timeout, an attempt within AttemptTimeout, both within
//     the context's deadline, if Base listens to its context.
//   - G-HTTP-16: a permit is held until the answer's body has ended, and comes back if that is
//     forgotten, when the context ends or BodyTimeout is over. Of a connection that switched
//     protocols it is held until that is closed, which the end of the context does.
//
// Of probes and the end:
//
//   - G-HTTP-17: readiness changes its mind only about what lasts, but for the first success
//     and the end.
//   - G-HTTP-18: Serve ends in order and within its bound: what was admitted is served, what
//     takes too long is cut, a second signal cuts everything short.
//
// # When not to use it
//
// For a rate rather than what goes on at once there is golang.org/x/time/rate. If a proxy or
// a mesh in front already limits and repeats, leave that to one of the two. For gRPC use
// spillway.StatusOf in an interceptor of your own.
package nethttp
