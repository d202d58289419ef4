// Package queuesort is the plugin PrioritySort: it orders the active queue by
// priority, and among equals by how long they have been waiting.
package queuesort
