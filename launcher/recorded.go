package launcher

import "lenslaunch/internal/rundir"

// recorded is what the launcher sets for its ranks: alike for all, and where they
// differ.
func (p *Plan) recorded(a Attempt) (list []rundir.RankInfo, alike map[string]string, err error) {
	for local := range p.World.LocalSize {
		w, err := p.Worker(local, a)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, rundir.RankInfo{Rank: w.Rank, Local: local, Env: w.Set})
	}
	alike = map[string]string{}
	for key, value := range list[0].Env {
		if everywhere(list, key, value) {
			alike[key] = value
		}
	}
	for _, r := range list {
		for key := range alike {
			delete(r.Env, key)
		}
	}
	return list, alike, nil
}

func everywhere(list []rundir.RankInfo, key, value string) bool {
	for _, r := range list {
		if other, ok := r.Env[key]; !ok || other != value {
			return false
		}
	}
	return true
}
