package main

// upParts are the parts of cairn up: every role in one process, with a Temporal server
// of its own.
func (p *platform) upParts() []part {
	return []part{
		p.listen, p.hostFolder, p.emptyTemporary,
		p.createSecretKey, p.startSecrets, p.openStores, p.sweepBlobs, p.prepareInstance,
		p.startModels, p.startTemporal, p.startDialer,
		p.startParsers, p.startQueues(nil), p.wakeWebhooks, p.repair,
		p.startDrawers, p.startAPI,
	}
}

// besideParts are the parts of a worker beside cairn up, whose stores and offline model
// it uses.
func (p *platform) besideParts(queues []string) []part {
	return []part{
		p.joinTemporal, p.joinFolder,
		p.startSecrets, p.joinStores,
		p.joinModels, p.startDialer,
		p.startParsers, p.startQueues(queues), p.wakeWebhooks,
	}
}
