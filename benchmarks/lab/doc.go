// Package lab has the overload lab: workloads that bring a backend down, and what becomes of it
// behind each policy.
//
// A [Workload] is a load and a backend over time. [Run] runs it with one policy and one seed, in a
// testing/synctest bubble: the code under test is the production code, only the backend is a model
// (package model). Arrivals are open-loop: they come when they come, whatever became of those
// before them, and all is measured from the time at which a call was meant to be made. [Board]
// collects the figures of all runs and judges them by the targets of the workload.
//
// A bubble needs a testing.T, so the lab is a test: the short form runs some of the workloads with
// all other tests, shortened, and fails if a figure leaves its band, which is wider than the target;
// "make lab" runs the long form and writes docs/lab.
package lab
