export { SimulatedBus, type SimulatedBusOptions } from './bus.ts';
export { Engine, type Owner } from './engine.ts';
export { simulatedLiveness } from './liveness.ts';
export { OrderedWay } from './ordered.ts';
export { SimulatedServer } from './server.ts';
export { matchesFilter, type SimulatedMessage } from './stream.ts';
export { installVirtualTime } from './virtual-time.ts';
export { drawWeather, type Weather } from './weather.ts';
