package paint

// cache keeps what was made recently, within a budget of bytes. It has two
// generations: a full young one becomes the old one and the old one is
// dropped, so that neither a lookup nor an eviction walks a list.
type cache[K comparable, V any] struct {
	young, old  map[K]entry[V]
	youngBytes  int
	oldBytes    int
	halfOfLimit int
}

type entry[V any] struct {
	value V
	bytes int
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{young: make(map[K]entry[V]), halfOfLimit: limit / 2}
}

func (c *cache[K, V]) get(k K) (V, bool) {
	if e, ok := c.young[k]; ok {
		return e.value, true
	}
	e, ok := c.old[k]
	if ok {
		delete(c.old, k)
		c.oldBytes -= e.bytes
		c.put(k, e.value, e.bytes)
	}
	return e.value, ok
}

// put stores a value that is not in the cache. A value larger than half the
// budget is not kept.
func (c *cache[K, V]) put(k K, v V, bytes int) {
	if bytes > c.halfOfLimit {
		return
	}
	if c.youngBytes+bytes > c.halfOfLimit {
		c.old, c.oldBytes = c.young, c.youngBytes
		c.young, c.youngBytes = make(map[K]entry[V]), 0
	}
	c.young[k] = entry[V]{v, bytes}
	c.youngBytes += bytes
}

// bytes is what the cache holds now.
func (c *cache[K, V]) bytes() int { return c.youngBytes + c.oldBytes }
