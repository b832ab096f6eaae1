/** The rook of the favicon. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M7 21.500c4.200 0 5.400-2.200 6-5.200.7-3.700 3-6.300 6.600-6.300 2.300 0 3.900 1 4.700 2.600l3.200 1.100-2.900 1.200c-.1 5.900-4.200 9.100-9.300 9.100H7.500l3-1.800c-1.600 0-2.900-.3-3.500-.7z" />
      <circle cx="20.600" cy="13.200" r="1.100" />
    </svg>
  );
}
