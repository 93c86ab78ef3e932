package aerospike

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// deepest is how deep an object may be nested. The driver follows pointers without
// looking where they lead: one that comes back to where it began ends the process.
const deepest = 500

// checkObject finds what the driver would get wrong in silence, or die of, when it makes
// bins of an object: numbers above the largest int64, which it lets wrap around, and
// objects that have no end. It goes by the driver's rules for which fields count. Behind
// Compat numbers may wrap: a program of the driver's reads them back into an unsigned
// field, where they wrap once more.
func checkObject(op *Operation, obj any, wraps bool) error {
	path, problem := objectCheck{wraps}.misfit(reflect.ValueOf(obj), 0)
	if problem == "" {
		return nil
	}
	return badArgument(op, "obj"+path, fmt.Sprintf("%T", obj), problem)
}

// objectCheck is a look at an object.
type objectCheck struct{ wraps bool } // whether numbers may wrap around

// misfit returns where in a value something is that doesn't fit, and what.
func (c objectCheck) misfit(v reflect.Value, depth int) (path, problem string) {
	if depth > deepest {
		return "", fmt.Sprintf("must not be nested deeper than %d", deepest)
	}
	switch v.Kind() {
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > math.MaxInt64 && !c.wraps {
			return "", fmt.Sprintf("must not be more than %d: %d would be stored as %d", int64(math.MaxInt64), v.Uint(), int64(v.Uint())) //nolint:gosec // that it wraps is the point
		}
	case reflect.Pointer, reflect.Interface:
		return c.misfit(v.Elem(), depth+1)
	case reflect.Struct:
		return c.misfitField(v, depth)
	case reflect.Slice, reflect.Array:
		if !holds(v.Type().Elem().Kind()) {
			return "", ""
		}
		for i := range v.Len() {
			if path, problem = c.misfit(v.Index(i), depth+1); problem != "" {
				return fmt.Sprintf("[%d]%s", i, path), problem
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if path, problem = c.misfit(entries.Key(), depth+1); problem == "" {
				path, problem = c.misfit(entries.Value(), depth+1)
			}
			if problem != "" {
				return "[…]" + path, problem
			}
		}
	default:
	}
	return "", ""
}

// misfitField is misfit for the fields of a struct that become bins. Those of an embedded
// one do, too.
func (c objectCheck) misfitField(v reflect.Value, depth int) (path, problem string) {
	t := v.Type()
	if t.PkgPath() == "time" && t.Name() == "Time" {
		return "", ""
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("as"), ",")
		embedded := f.Anonymous && f.Type.Kind() == reflect.Struct
		if !embedded && (!f.IsExported() || strings.TrimSpace(name) == "-" || strings.TrimSpace(f.Tag.Get("asm")) != "") {
			continue
		}
		if path, problem = c.misfit(v.Field(i), depth+1); problem != "" {
			return "." + f.Name + path, problem
		}
	}
	return "", ""
}

// holds reports whether values of a kind can hold something that doesn't fit.
func holds(k reflect.Kind) bool {
	switch k {
	case reflect.Uint, reflect.Uint64, reflect.Uintptr, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return true
	default:
		return false
	}
}
