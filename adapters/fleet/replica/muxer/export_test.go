package muxer

// PlaceOf is placeOf.
var PlaceOf = placeOf
