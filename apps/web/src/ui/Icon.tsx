const paths = {
  plus: 'M12 5v14M5 12h14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  settings: 'M4 8h10M18 8h2M4 16h2M10 16h10M14 6v4M8 14v4',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4',
  pencil: 'M5 19l1-4L16 5l3 3L9 18l-4 1z',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  unarchive: 'M4 5h16v4H4zM6 9v10h12V9M12 17v-5M9.500 14.500L12 12l2.500 2.500',
  send: 'M12 19V6M6 12l6-6 6 6',
  stop: 'M8 8h8v8H8z',
  steer: 'M5 6v5a3 3 0 0 0 3 3h10M14 10l4 4-4 4',
  chevron: 'M9 6l6 6-6 6',
  down: 'M12 5v13M6 13l6 6 6-6',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  failed: 'M7 7l10 10M17 7L7 17',
  folder: 'M4 7a2 2 0 0 1 2-2h3.500l2 2.500H18a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2z',
  copy: 'M9 9h10v10H9zM5 15V5h10',
  trash: 'M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4',
  terminal: 'M5 7l5 5-5 5M12 17h7',
  file: 'M7 4h7l4 4v12H7zM14 4v4h4',
  alert: 'M12 8v5M12 16.500v.1M12 3.500l9 16H3z',
} as const;

export type IconName = keyof typeof paths;

/** A line icon; decorative, so whatever holds it carries the label. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
