// Package geo reads GeoJSON points and regions and says which points lie in
// which regions.
//
// The earth is a sphere, edges of polygons are parts of great circles, and a
// loop is taken the way round on which it is the smaller. Unlike a real server
// it doesn't round points to cells, which are about a centimetre wide.
package geo
